-- Tries by phone that a carrier had turned away, and of which it has said otherwise since, are found by their payment: before another one
-- asks for its money, the carrier is asked what became of them. They are few.
create index if not exists attempt_turned_away on attempt (payment_id, shard)
  where purpose = 'payment' and method = 'mobile_money' and (status = 'not_sent' or reason like 'late\_%');
