-- A bank transfer's proof that is used again is told from a new one by its content, wherever the first one lies. The index
-- is made in every month's table at once; only the archiver waits for it.

create index proof_by_digest on archive.proof (digest, shard);
