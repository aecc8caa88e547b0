/** The form in which texts are compared that mean the same in any case, however their accents are composed. */
export const foldedText = (text: string): string => text.normalize('NFC').trim().toLowerCase();
