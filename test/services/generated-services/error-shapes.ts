import type { Dialect } from './dialect.ts';

/** An answer without any fault. */
export interface GeneratedAnswer {
	status: number;
	/** Sent as JSON. */
	body?: unknown;
	/** Sent instead. */
	text?: string;
	/** Media type; JSON unless given. */
	type?: string;
	headers?: Record<string, string>;
}

/** A refusal in one of the shapes that services use. */
export function errorBody(shape: Dialect['errors'], status: number, code: string): GeneratedAnswer {
	const message = `The CRM says ${code}`;
	const shapes: Record<Dialect['errors'], Omit<GeneratedAnswer, 'status'>> = {
		problem: { body: { status, code, title: 'Refused', detail: message, errors: [] }, type: 'application/problem+json' },
		nested: { body: { error: { code: 'constructor', message } } },
		text: { text: message, type: 'text/plain' },
		page: { text: `<html><title>${message}</title></html>`, type: 'text/html' },
		nothing: {},
	};
	return { status, ...shapes[shape] };
}
