import type { SchemaWords } from './schema-words.js'

/** What visitors asked for on the portal, and what paid for it. */
export function orderTables(words: SchemaWords): string {
  const { integer, text, email, emailKey, json, keyed } = words
  return `
  CREATE TABLE orders (
    id ${text} NOT NULL PRIMARY KEY,
    kind ${text} NOT NULL CHECK (kind IN ('new', 'renew', 'change')),
    state ${text} NOT NULL CHECK (state IN ('waiting', 'confirmed', 'declined', 'expired')),
    email ${email} NOT NULL,
    language ${text} NOT NULL CHECK (language IN ('en', 'ru')),
    -- Of a new subscription: once the order is confirmed.
    subscription_id ${text} REFERENCES subscriptions (id),
    items ${json('items')},
    months ${integer} CHECK (months > 0),
    amount_rub ${integer} NOT NULL CHECK (amount_rub >= 0),
    -- Of a change: the subscription's newest agreement when its amount was computed.
    agreement_id ${integer} REFERENCES agreements (id),
    ordered_at ${integer} NOT NULL,
    pay_until ${integer} NOT NULL,
    done_at ${integer},
    CHECK ((state = 'waiting') = (done_at IS NULL)),
    CHECK (kind = 'new' OR subscription_id IS NOT NULL)
  ) ${keyed};

  CREATE INDEX orders_of_email ON orders (${emailKey}, ordered_at);
  CREATE INDEX orders_of_subscription ON orders (subscription_id, ordered_at);
  CREATE INDEX orders_waiting ON orders (pay_until) WHERE state = 'waiting';
  CREATE UNIQUE INDEX one_waiting_order ON orders (subscription_id) WHERE state = 'waiting';

  -- What a payment system reported. A report that confirmed nothing is kept for the owner.
  CREATE TABLE payments (
    id ${text} NOT NULL PRIMARY KEY,
    order_id ${text} NOT NULL REFERENCES orders (id),
    amount_rub ${integer} NOT NULL,
    paid_at ${integer} NOT NULL,
    received_at ${integer} NOT NULL,
    outcome ${text} NOT NULL
      CHECK (outcome IN ('confirmed', 'wrong amount', 'not waiting', 'not possible'))
  ) ${keyed};

  CREATE INDEX payments_of_order ON payments (order_id, received_at);
  `
}

/** Codes mailed to an address; removed an hour after they were made. */
export function codeTable(words: SchemaWords): string {
  const { integer, text, bytes, email, emailKey, json, keyed } = words
  return `
  CREATE TABLE email_codes (
    id ${text} NOT NULL PRIMARY KEY,
    purpose ${text} NOT NULL CHECK (purpose IN ('order', 'lost-token', 'reissue', 'connect')),
    email ${email} NOT NULL,
    language ${text} NOT NULL CHECK (language IN ('en', 'ru')),
    -- Keyed hashes of the client's network and of the code.
    network ${bytes} NOT NULL CHECK (length(network) = 32),
    hash ${bytes} NOT NULL CHECK (length(hash) = 32),
    -- What the code is for, such as the choice of plans.
    subject ${json('subject')},
    created_at ${integer} NOT NULL,
    wrong_tries ${integer} NOT NULL DEFAULT 0,
    used_at ${integer}
  ) ${keyed};

  CREATE INDEX email_codes_of_email ON email_codes (${emailKey}, created_at);
  CREATE INDEX email_codes_of_network ON email_codes (network, created_at);
  CREATE INDEX email_codes_by_time ON email_codes (created_at);
  `
}

/** Letters that belong to a subscription, an order or a code; their kinds are in letters.ts. */
export function letterTable(name: string, { integer, text, bytes, id, end }: SchemaWords): string {
  return `
  CREATE TABLE ${name} (
    id ${id},
    kind ${text} NOT NULL,
    subscription_id ${text} REFERENCES subscriptions (id),
    order_id ${text} REFERENCES orders (id) ON DELETE CASCADE,
    code_id ${text} REFERENCES email_codes (id) ON DELETE CASCADE,
    token_id ${text} REFERENCES tokens (id),
    -- The token or code of the letter, encrypted; NULL once the letter is done.
    sealed_secret ${bytes},
    -- Only in a reminder: the end of the subscription.
    expires_at ${integer},
    state ${text} NOT NULL CHECK (state IN ('waiting', 'sent', 'failed', 'dropped')),
    created_at ${integer} NOT NULL,
    attempts ${integer} NOT NULL DEFAULT 0,
    next_attempt_at ${integer} NOT NULL,
    -- While a process sends the letter: until then no other process takes it.
    held_until ${integer},
    last_error ${text},
    done_at ${integer},
    CHECK (coalesce(subscription_id, order_id, code_id) IS NOT NULL)
  ) ${end};
  `
}

/** What the table `letters` is searched by. */
export const letterIndexes = `
  CREATE INDEX letters_waiting ON letters (next_attempt_at) WHERE state = 'waiting';
  CREATE INDEX letters_of_order ON letters (order_id) WHERE order_id IS NOT NULL;
  CREATE INDEX letters_of_code ON letters (code_id) WHERE code_id IS NOT NULL;
  CREATE UNIQUE INDEX one_reminder_an_end ON letters (subscription_id, expires_at)
    WHERE kind = 'reminder';
  `

/** Finds the order of each earlier agreement, by kind and millisecond. */
export const ordersOfAgreements = `
  UPDATE agreements SET order_id = (
    SELECT min(o.id) FROM orders o
    WHERE o.subscription_id = agreements.subscription_id AND o.state = 'confirmed'
      AND o.done_at = agreements.ordered_at
      AND agreements.kind = CASE o.kind WHEN 'new' THEN 'create' WHEN 'renew' THEN 'extend'
        ELSE 'change' END
  );
  `

/**
 * What the owner sold becomes orders like those of the portal; the ends of subscriptions stay in
 * `subscriptions`.
 */
export function oneLedger({ integer, text, orderId }: SchemaWords): string {
  return `
  -- Of a change on the portal: the subscription's newest entry when its amount was computed.
  ALTER TABLE orders ADD COLUMN based_on ${integer};
  UPDATE orders SET based_on = agreement_id;
  ALTER TABLE orders DROP COLUMN agreement_id;
  ALTER TABLE orders ADD COLUMN by_owner ${integer} NOT NULL DEFAULT 0;
  -- Once it took effect: its place among all that did, and the subscription after it.
  ALTER TABLE orders ADD COLUMN entry ${integer};
  ALTER TABLE orders ADD COLUMN grants ${text};
  ALTER TABLE orders ADD COLUMN global_rows ${integer};
  ALTER TABLE orders ADD COLUMN expires_at ${integer};
  CREATE UNIQUE INDEX orders_by_entry ON orders (entry);
  UPDATE orders SET entry = (SELECT min(id) FROM agreements WHERE order_id = orders.id);
  UPDATE orders SET
    grants = (SELECT grants FROM agreements WHERE id = orders.entry),
    global_rows = (SELECT global_rows FROM agreements WHERE id = orders.entry),
    expires_at = (SELECT expires_at FROM agreements WHERE id = orders.entry);
  INSERT INTO orders (id, kind, state, email, language, subscription_id, items, months, amount_rub,
    ordered_at, pay_until, by_owner, done_at, entry, grants, global_rows, expires_at)
  SELECT ${orderId},
    CASE a.kind WHEN 'create' THEN 'new' WHEN 'extend' THEN 'renew' ELSE 'change' END,
    'confirmed', p.email, s.language, s.id, a.grants, a.months, coalesce(a.price_rub, 0),
    a.ordered_at, a.ordered_at, 1, a.ordered_at, a.id, a.grants, a.global_rows, a.expires_at
  FROM agreements a
  JOIN subscriptions s ON s.id = a.subscription_id
  JOIN subscribers p ON p.id = s.subscriber_id
  WHERE a.kind <> 'cancel' AND NOT EXISTS (SELECT 1 FROM orders WHERE entry = a.id);
  DROP TABLE agreements;
  `
}

/** Buyers that are companies, and numbers of paid orders in the year in which they took effect. */
export function receiptTables({ integer, text, yearOf, end }: SchemaWords): string {
  return `
  ALTER TABLE orders ADD COLUMN buyer ${text};
  -- The invoice or receipt as it was first written: it never changes with the registry.
  ALTER TABLE orders ADD COLUMN paper ${text};
  ALTER TABLE orders ADD COLUMN receipt_year ${integer};
  ALTER TABLE orders ADD COLUMN receipt_number ${integer};
  CREATE UNIQUE INDEX orders_by_receipt ON orders (receipt_year, receipt_number);
  -- The last number that a paid order got, in each year: they have no gaps.
  CREATE TABLE receipt_numbers (
    year ${integer} NOT NULL PRIMARY KEY,
    last ${integer} NOT NULL
  ) ${end};
  UPDATE orders SET receipt_year = ${yearOf('done_at')} WHERE entry IS NOT NULL AND amount_rub > 0;
  UPDATE orders SET receipt_number = (
    SELECT count(*) FROM orders o
    WHERE o.receipt_year = orders.receipt_year AND o.entry <= orders.entry
  ) WHERE receipt_year IS NOT NULL;
  INSERT INTO receipt_numbers (year, last)
  SELECT receipt_year, max(receipt_number) FROM orders
  WHERE receipt_year IS NOT NULL GROUP BY receipt_year;
  `
}
