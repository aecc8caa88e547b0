/** Where the interactive documentation is: what is deprecated refers to it. */
export const docsPath = '/docs';
