/** The text of a response, and whether it contradicts its declared encoding. */
export interface DecodedText {
	text: string;
	isGarbled?: true;
}

/**
 * Reads text in the encoding that its media type names; without a name, in UTF-8 (RFC 8259, section 8.1). In the wrong
 * encoding, characters would become U+FFFD, and would be written back like that.
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
