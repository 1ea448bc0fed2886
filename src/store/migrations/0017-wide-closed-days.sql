-- The same of what stood there when a day was over: by itself, so that accounts are not held as long as this takes.
alter table account_day alter column balance type numeric(38, 0);
