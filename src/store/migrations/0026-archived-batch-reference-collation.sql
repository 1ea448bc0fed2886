-- As 0022, of archived payout batches.
alter table archive.payout_batch alter column customer_reference type text collate "C";
