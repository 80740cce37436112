-- name: storage_engine
SELECT engine,transactions FROM information_schema.engines WHERE engine=@@default_storage_engine
