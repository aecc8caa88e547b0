/** The text of an answer, and whether it contradicts its declared encoding. */
export interface DecodedText {
	text: string;
	isGarbled?: true;
}

/**
 * Reads text in the encoding its media type names; JSON without a name is UTF-8 (RFC 8259, section 8.1).
 * Text in another encoding would come out with U+FFFD in its place, and be written back so.
 *
 * @param contentType such as `application/json; charset=ISO-8859-1`
 */
export function decodedText(bytes: Uint8Array, contentType = ''): DecodedText {
	const [, named = 'utf-8'] = /;\s*charset\s*=\s*"?([\w.:+-]+)/i.exec(contentType) ?? [];
	try {
		return { text: new TextDecoder(named, { fatal: true }).decode(bytes) };
	} catch {
		return { text: new TextDecoder().decode(bytes), isGarbled: true };
	}
}
