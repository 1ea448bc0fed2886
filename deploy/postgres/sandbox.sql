-- Runs once, on an empty volume: the database of the service `try`, which belongs to another mode than production's.
create database mbongo_sandbox owner mbongo;
