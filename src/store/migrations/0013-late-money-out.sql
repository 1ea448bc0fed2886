-- Lines that pay failed ones again are found by these. They are few.

create index if not exists payout_line_retry on payout_line (shard, retry_of) where retry_of is not null;
create index payout_line_retry on archive.payout_line (shard, retry_of) where retry_of is not null;

-- Those that were, by their batch and their receiver. Versions move, so that whoever has read a line decides again.
update payout_line l set retry_of = f.id, version = l.version + 1
from payout_batch b, payout_line f
where b.retry_of is not null and b.shard = l.shard and b.id = l.batch_id
  and f.shard = b.shard and f.batch_id = b.retry_of and f.retried_by = b.id
  and f.msisdn is not distinct from l.msisdn and f.wallet_number is not distinct from l.wallet_number;

-- Attempts at payout lines and refunds are found by those: an order that more than one of them has paid, or may have paid, needs all.
create index if not exists attempt_of_order on attempt (payment_id, shard) where purpose <> 'payment';
create index if not exists attempt_of_order on archive.attempt (payment_id, shard) where purpose <> 'payment';

-- Money that left late waits for a person as well as what came late.
create index if not exists attempt_late_money on attempt (shard, id) where reason = 'late_success';
drop index attempt_late;

-- But for what its own payout line or refund has been paid with since: that waits for nobody.
update attempt a set reason = 'late_success_kept', version = a.version + 1
where a.reason = 'late_success' and a.purpose in ('payout', 'refund') and (
  exists (select from payout_line l where l.shard = a.shard and l.id = a.payment_id and l.status = 'completed' and l.attempt_id = a.id)
  or exists (select from refund r where r.shard = a.shard and r.id = a.payment_id and r.status = 'completed' and r.attempt_id = a.id));
