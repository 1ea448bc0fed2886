-- The same of payout batches: by itself, so that payments are not held as long as this takes.
alter table payout_batch alter column customer_reference type text collate "C";
alter table archive.payout_batch alter column customer_reference type text collate "C";
