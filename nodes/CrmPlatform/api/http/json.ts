/** The value a text is the JSON of; undefined where it is none. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Newline-delimited JSON; undefined where one of the lines is none. */
export function parseLines(text: string): unknown[] | undefined {
	const values = text
		.split('\n')
		.filter((line) => line !== '')
		.map(parseJson);
	return values.includes(undefined) ? undefined : values;
}
