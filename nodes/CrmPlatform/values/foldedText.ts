/** Characters without a shape: soft hyphens, zero-width spaces and joiners, marks of direction, fillers, control characters. */
const invisible = '\\p{Default_Ignorable_Code_Point}\\p{Cc}\\u2800';
const visible = new RegExp(`[^\\s${invisible}]`, 'u');
const leading = new RegExp(`^[\\s${invisible}]+`, 'u');
// The character before it keeps the search linear.
const trailing = new RegExp(`(?<=[^\\s${invisible}])[\\s${invisible}]+$`, 'u');
const withinText = new RegExp(`(?![\\t\\n\\v\\f\\r])[${invisible}]`, 'gu');

/** Whether a text shows nothing: it has only white space and invisible characters. */
export const showsNothing = (text: string): boolean => !visible.test(text);

/** A text without the white space and the invisible characters around it. */
export const trimmed = (text: string): string => text.replace(leading, '').replace(trailing, '');

/**
 * A text as people read it: without invisible characters, with single spaces of one kind, none around it, and accents
 * composed (NFC). Two names that look alike are one.
 */
export const visibleText = (text: string): string => text.normalize('NFC').replace(withinText, '').replace(/\s+/g, ' ').trim();

/** A text for comparisons that also ignore case. */
export const foldedText = (text: string): string => visibleText(text).toLowerCase();

/** A text without case and accents, which services may ignore in filters. */
export const unaccentedText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/**
 * A name for comparisons that ignore case, and the accents of Latin and Greek letters, which people leave out. In other
 * scripts, marks are letters of their own: й is not и, and half of a Hindi name are marks.
 */
export const normalizedName = (name: string): string =>
	visibleText(name).normalize('NFD').replace(/(?<=[\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu, '').normalize('NFC').toLowerCase();
