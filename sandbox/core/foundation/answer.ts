/** An answer to a request, in a form that can be stored and replayed. */
export interface Answer {
	status: number;
	headers: Record<string, string>;
	body: string | null;
	/** The webhook secret to add to the body on its way out. The secret is not stored with the answer. */
	secretId?: number;
	/** The id of the record in the body, if the body is a record. */
	id?: string;
}

export const jsonAnswer = (status: number, body: unknown): Answer => ({
	status,
	headers: { 'Content-Type': 'application/json' },
	body: JSON.stringify(body),
});

export const toResponse = (answer: Answer): Response =>
	new Response(answer.body, { status: answer.status, headers: answer.headers });
