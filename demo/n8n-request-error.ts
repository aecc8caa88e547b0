/** n8n answered a request with an error. */
export class N8nRequestError extends Error {
	override name = 'N8nRequestError';
	readonly status: number;

	constructor(request: string, status: number, answer: string) {
		super(`n8n answered ${request} with ${status}: ${answer}`);
		this.status = status;
	}
}
