/** The path of the interactive documentation. */
export const docsPath = '/docs';
