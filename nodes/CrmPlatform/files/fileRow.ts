/**
 * A row of a file: its cells, or its text and why it cannot be read. Rows are counted from 1, the header
 * included.
 */
export type FileRow<Content> = { row: number } & (
	| { content: Content; problem?: undefined; text?: string }
	| { content?: undefined; problem: string; text: string }
);

/**
 * Thrown if the content of a file is invalid, in the user's words. Any other error, such as one of n8n's binary
 * store, does not concern the content: another attempt may succeed.
 */
export class UnreadableFile extends Error {}
