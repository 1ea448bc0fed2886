-- A merchant's refunds are listed newest first, wherever they lie. The index is made in every month's table at once; only the
-- archiver waits for it.

create index refund_of_merchant on archive.refund (merchant_id, id, shard);
