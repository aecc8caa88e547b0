/** A response as data, which can be stored and replayed. */
export interface ResponseData {
	status: number;
	headers: Record<string, string>;
	body: string | null;
	/** The id of the record in the body, if the body is a record. */
	id?: string;
}

export const jsonResponse = (status: number, body: unknown): ResponseData => ({
	status,
	headers: { 'Content-Type': 'application/json' },
	body: JSON.stringify(body),
});

export const toResponse = (response: ResponseData): Response =>
	new Response(response.body, { status: response.status, headers: response.headers });

/**
 * A page of a list.
 *
 * @param data the JSON of each record
 */
export const listResponse = (data: string[], cursor: string | null, total: number): Response =>
	new Response(`{"data":[${data.join()}],"next_cursor":${JSON.stringify(cursor)},"total":${total}}`, {
		headers: { 'Content-Type': 'application/json' },
	});
