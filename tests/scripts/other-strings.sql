SELECT b'101', x'1F', U&'d\0061t;', N'n;';
