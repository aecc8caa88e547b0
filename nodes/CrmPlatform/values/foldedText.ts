/** Characters that nobody sees: soft hyphens, zero-width spaces and joiners, marks of direction, fillers. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * A text as people read it: without invisible characters, with single spaces of one kind, none around it, and accents
 * composed (NFC). Two names that look alike are one.
 */
export const visibleText = (text: string): string => text.normalize('NFC').replace(invisible, '').replace(/\s+/g, ' ').trim();

/** A text for comparisons that also ignore case. */
export const foldedText = (text: string): string => visibleText(text).toLowerCase();

/** A text without case and accents, which services may ignore in filters. */
export const unaccentedText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
