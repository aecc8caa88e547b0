/** The introduction of the documentation, in CommonMark. */
export const introduction = `
Read and change the records of a CRM account, and get notified when they change.

# Signing in

Send an API key or an OAuth 2.0 access token in the header \`Authorization: Bearer <TOKEN>\`.

- **API keys** give access to the whole account. Administrators create them in the settings, under
  *API and integrations*.
- **Access tokens** act for the user who allowed them, within the scopes granted. Clients use the
  authorization code flow with PKCE (S256). A token lasts an hour; its refresh token is replaced whenever
  it is used.

To verify credentials, list contacts: \`GET /v1/contacts?limit=3\`.

# Pages and cursors

A list responds with \`data\`, \`next_cursor\` and \`total\`. Send \`next_cursor\` as \`cursor\`, with the same
filters and \`sort\`, to get the next page; it is null on the last page. \`limit\` is 50 by default and at most
500. A list accepts at most 100 filters. To follow changes, filter with \`updated_since\`, or read events.

# Limits

Requests are counted per account and minute: 1,000 with the plan Starter, 5,000 with Pro. Every response has
\`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`, the end of the minute in Unix seconds. A 429 response has
\`Retry-After\` in seconds. A batch of up to 100 records counts as one request;
a job accepts 100,000 lines. \`x-limits\` of an operation and \`maxItems\` of a list state further limits.

# Idempotency

Send a new \`Idempotency-Key\` with every write. After a timeout or a 5xx response, repeat the request with the
same key: it takes effect once, and a repeated response has \`Idempotent-Replayed: true\`. Keys are kept for 24
hours. To change only the version that you have read, send its \`ETag\` as \`If-Match\`, with an upsert as well.
Operations that do not list \`If-Match\` refuse it with 400.

# Errors

Errors are \`application/problem+json\` (RFC 9457). \`code\` is for programs, \`detail\` for people, and \`errors\`
names each wrong field by its pointer. Quote \`request_id\` when you ask for help.

# Events and signatures

A webhook subscribes an address to types of events, such as \`contact.created\` or \`deal.*\`. Events arrive at
least once and in no order: skip an \`id\` that you have seen, and a \`version\` older than the one you have.
Deliveries are signed as Standard Webhooks specifies: \`webhook-signature\` is \`v1,\` and the Base64 of an
HMAC-SHA256 of \`{webhook-id}.{webhook-timestamp}.{body}\`, with the secret that creating the webhook returned.
Failed deliveries are retried for days. Events are kept for 30 days, in sequence, at \`/v1/events\`.
`.trim();
