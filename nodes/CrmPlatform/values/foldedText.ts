/** A text for comparisons that ignore case and how accents are composed. */
export const foldedText = (text: string): string => text.normalize('NFC').trim().toLowerCase();
