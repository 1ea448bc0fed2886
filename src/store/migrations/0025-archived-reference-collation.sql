-- As 0022, of archived payments.
alter table archive.payment alter column customer_reference type text collate "C";
