-- Gold: what came into each queue, by minute and by kind.
CREATE MATERIALIZED VIEW flow AS
SELECT queue, date_trunc('MINUTE', arrived) AS minute, kind, count(*) AS messages, sum(size) AS bytes
FROM silver
GROUP BY queue, date_trunc('MINUTE', arrived), kind;
