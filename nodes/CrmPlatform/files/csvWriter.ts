/** The beginning of a text that a spreadsheet runs as a formula (OWASP: CSV Injection), or that is already escaped. */
const formula = /^'*[=+\-@\t\r]/;
/** A phone number or a number: a spreadsheet may calculate with it without harm. */
const harmless = /^[+-][\d\s().,/-]*$/;

/**
 * A row of a CSV file (RFC 4180), with its line end. A text that a spreadsheet would run as a formula gets an apostrophe in
 * front, which spreadsheets do not show; `unescapedCell` removes it.
 */
export const csvRow = (cells: readonly unknown[], delimiter?: string): string => `${csvCells(cells, delimiter)}\r\n`;

/** The header of a CSV file, with the byte-order mark that tells spreadsheets that the file is UTF-8. */
export const csvHeader = (header: readonly string[], delimiter?: string): string => `\uFEFF${csvRow(header, delimiter)}`;

/** Cells of a row, without its line end. */
export const csvCells = (cells: readonly unknown[], delimiter = ','): string =>
	cells.map((cell) => csvCell(cell, delimiter)).join(delimiter);

/** Texts, such as most cells, that need neither quotes nor an apostrophe with any delimiter. */
const plain = /^\w[\w.@:/+-]*(?: [\w.@:/+-]+)*$/;

function csvCell(value: unknown, delimiter: string): string {
	if (value === null || value === undefined) return '';
	if (typeof value === 'number' || typeof value === 'boolean') return String(value);
	if (typeof value === 'string' && plain.test(value)) return value;
	const unescaped = typeof value === 'string' ? value : JSON.stringify(value);
	const text = formula.test(unescaped) && !harmless.test(unescaped) ? `'${unescaped}` : unescaped;
	const needsQuotes = text === '' || /^\s|\s$|["\r\n]/.test(text) || text.includes(delimiter);
	return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}

export function unescapedCell(cell: string): string {
	const rest = cell.slice(1);
	return cell.startsWith("'") && formula.test(rest) && !harmless.test(rest) ? rest : cell;
}
