-- A line that pays a failed one again names it: what the failed one turns out to have paid after all is not paid twice. What is read
-- by them is made in a file of its own, so that nobody waits for more than this.

alter table payout_line add column retry_of text collate "C";
alter table archive.payout_line add column retry_of text collate "C";
