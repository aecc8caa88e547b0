// What HTTP statuses of the service mean to the node (RFC 9110, section 15).

/** The credential is invalid or has expired. */
export const unauthorized = 401;
/** A write names a version of the record that is not the current one: nothing was done. */
export const outdatedVersion = 412;
/** The request is too large: nothing was done. */
export const tooLarge = 413;
/** The service limits the rate (RFC 6585, section 4): nothing was done. */
export const rateLimited = 429;
/** The service cannot answer now: something may have been done. */
export const unavailable = 503;

type Statuses = readonly number[];

/** The requested thing does not exist (any more). A web server may answer this instead of the API. */
export const notFound: Statuses = [404, 410];

/** The credential has no access: the service says so (403) or hides that the thing exists (404). */
export const notReadable: Statuses = [403, 404];

/** The service refuses a record or its type, and may accept another one. */
export const refusedRecord: Statuses = [400, 403, ...notFound, 405, 409, outdatedVersion, tooLarge, 422, 423];

/** The service refuses a value of a filter, and may accept another one. */
export const refusedFilterValue: Statuses = [400, tooLarge, 414, 422, 431];

/** The service refuses a subscription to webhooks permanently, as opposed to an outage. */
export const refusedSubscription: Statuses = [400, 403, ...notFound, 405, 409, 422, 501];

/** Services refuse a write with these; any other status may come from a proxy on the way. */
export const refusedWrite: Statuses = [
	400, unauthorized, 403, ...notFound, 405, 409, outdatedVersion, tooLarge, 415, 422, 428, rateLimited,
];
