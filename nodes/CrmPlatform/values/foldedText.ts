/** A text for comparisons that ignore case and how accents are composed. */
export const foldedText = (text: string): string => text.normalize('NFC').trim().toLowerCase();

/** A text without case and accents, which services may ignore in filters. */
export const unaccentedText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
