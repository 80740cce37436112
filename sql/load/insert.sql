-- One tuple a transaction, which commits by itself.
\set number random(1, 1000000000)
INSERT INTO tuples (client, number, note) VALUES (:client_id, :number, 'one tuple of a hundred bytes, much like those that an application logs');
