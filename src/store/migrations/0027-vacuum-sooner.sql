-- Rows that are written again leave dead entries in the indexes of what is due, and the rounds read past them every second: 16 ms
-- past 800 000 entries of delivered webhooks, 0.1 ms once they were vacuumed. By default a table is vacuumed when a fifth of its
-- rows is dead, with twenty million rows after four million; so it is after one million. Vacuuming itself reads all indexes, which
-- is why it is no less. The lock keeps off other vacuums and migrations, no reads and no writes.

alter table session set (autovacuum_vacuum_scale_factor = 0.05);
alter table payment set (autovacuum_vacuum_scale_factor = 0.05);
alter table attempt set (autovacuum_vacuum_scale_factor = 0.05);
alter table payout_line set (autovacuum_vacuum_scale_factor = 0.05);
alter table refund set (autovacuum_vacuum_scale_factor = 0.05);
alter table webhook_event set (autovacuum_vacuum_scale_factor = 0.05);
alter table idempotency set (autovacuum_vacuum_scale_factor = 0.05);
