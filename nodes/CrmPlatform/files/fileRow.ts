/** A row's cells, or its text and why it cannot be read. Rows are counted from 1, the header included. */
export type FileRow<Content> = { row: number } & (
	| { content: Content; problem?: undefined; text?: string }
	| { content?: undefined; problem: string; text: string }
);

/** The columns that an import adds to the user's columns in its files. They are never read. */
export const reportColumns = {
	row: 'import_row',
	id: 'import_id',
	action: 'import_action',
	field: 'import_error_field',
	code: 'import_error_code',
	value: 'import_error_value',
	message: 'import_error_message',
	text: 'import_error_row',
} as const;

export const reportNames: ReadonlySet<string> = new Set<string>(Object.values(reportColumns));
