-- The same of payout batches.
alter table payout_batch alter column customer_reference type text collate "C";
