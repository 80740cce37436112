-- One table that only grows.
CREATE TABLE tuples (client INTEGER NOT NULL, number INTEGER NOT NULL, note VARCHAR(100) NOT NULL);
