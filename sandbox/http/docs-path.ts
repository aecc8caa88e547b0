/** The path of the interactive documentation, which deprecation headers refer to. */
export const docsPath = '/docs';
