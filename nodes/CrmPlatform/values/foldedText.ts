/** Characters without a shape: soft hyphens, zero-width spaces and joiners, marks of direction, fillers, control characters. */
const invisible = '[\\p{Default_Ignorable_Code_Point}\\u2800]|(?!\\s)\\p{Cc}';
const everyInvisible = new RegExp(invisible, 'gu');
const start = new RegExp(`^(?:\\s|${invisible})+`, 'u');
const end = new RegExp(`(?:\\s|${invisible})+$`, 'u');

/** A text without the white space and the invisible characters around it. Nothing is left of a text that nobody sees. */
export const trimmed = (text: string): string => text.replace(start, '').replace(end, '');

/**
 * A text as people read it: without invisible characters, with single spaces of one kind, none around it, and accents
 * composed (NFC). Two names that look alike are one.
 */
export const visibleText = (text: string): string => text.normalize('NFC').replace(everyInvisible, '').replace(/\s+/g, ' ').trim();

/** A text for comparisons that also ignore case. */
export const foldedText = (text: string): string => visibleText(text).toLowerCase();

/** A text without case and accents, which services may ignore in filters. */
export const unaccentedText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
