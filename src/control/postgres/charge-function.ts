/**
 * The function that charges a batch, in the order of its arrays, by the rule of `chargeResult` in
 * `usage.ts`. It locks the subscriptions first, in the order of their ids: then no charge of
 * another server comes in between, and two batches never wait for each other. A null cap is none.
 */
export const chargeFunction = `
  CREATE FUNCTION charge_rows(subscription_ids text[], datasets text[], periods text[],
    wanted bigint[], all_or_none boolean[], dataset_caps bigint[], global_caps bigint[])
  RETURNS TABLE (granted bigint, charged text, dataset_used bigint, global_used bigint)
  LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM FROM subscriptions s WHERE s.id = ANY (subscription_ids)
      ORDER BY s.id FOR NO KEY UPDATE;
    FOR i IN 1 .. cardinality(subscription_ids) LOOP
      -- The newest month wins over an earlier clock.
      SELECT coalesce(max(u.period), periods[i]) INTO charged FROM usage u
        WHERE u.subscription_id = subscription_ids[i] AND u.period > periods[i];
      SELECT coalesce(sum(u.rows), 0),
          coalesce(sum(u.rows) FILTER (WHERE u.dataset = datasets[i]), 0)
        INTO global_used, dataset_used FROM usage u
        WHERE u.subscription_id = subscription_ids[i] AND u.period = charged;
      -- least() leaves out NULL.
      granted := greatest(0,
        least(wanted[i], dataset_caps[i] - dataset_used, global_caps[i] - global_used));
      IF all_or_none[i] AND granted < wanted[i] THEN
        granted := 0;
      END IF;
      IF granted > 0 THEN
        INSERT INTO usage AS u (subscription_id, period, dataset, rows)
          VALUES (subscription_ids[i], charged, datasets[i], granted)
          ON CONFLICT (subscription_id, period, dataset)
          DO UPDATE SET rows = u.rows + excluded.rows;
      END IF;
      dataset_used := dataset_used + granted;
      global_used := global_used + granted;
      RETURN NEXT;
    END LOOP;
  END
  $$;
  `
