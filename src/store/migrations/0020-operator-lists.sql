-- Lists for operators: a shard's batches that wait for approval, are paused or have dates to come, and a merchant's proofs.
create index if not exists payout_batch_open on payout_batch (shard, id)
  where cancelled_at is null and (approval = 'waiting' or paused_at is not null or next_occurrence <= occurrences);
create index if not exists proof_of_merchant on proof (merchant_id, id, shard);
