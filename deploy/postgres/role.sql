-- Runs once, on an empty volume, before the other file here: the gateway's role, which owns its database and nothing else. The
-- superuser is left without a password, so that it can be used inside this container alone.
\getenv password POSTGRES_PASSWORD
create role mbongo login password :'password';
create database mbongo owner mbongo;
alter role postgres password null;
