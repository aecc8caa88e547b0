/** One version of a changelog in the form of Keep a Changelog 1.1. */
export interface ChangelogEntry {
	/** `Unreleased`, or a version. */
	version: string;
	/** YYYY-MM-DD; undefined if the heading has none. */
	date: string | undefined;
	/** The text under the heading, in Markdown. */
	notes: string;
}

const headingPattern = /^## \[(?<version>[^\]]+)\](?: - (?<date>\d{4}-\d{2}-\d{2}))?[ \t\r]*$/gm;
const linkDefinitionPattern = /^\[[^\]]+\]: \S+\r?$/gm;

/** Reads the entries of a changelog, in their order. */
export function parseChangelog(text: string): ChangelogEntry[] {
	const headings = [...text.matchAll(headingPattern)];
	return headings.map(({ index, 0: heading, groups }, i) => ({
		version: groups?.['version'] ?? '',
		date: groups?.['date'],
		notes: text
			.slice(index + heading.length, headings[i + 1]?.index)
			.replace(linkDefinitionPattern, '')
			.trim(),
	}));
}
