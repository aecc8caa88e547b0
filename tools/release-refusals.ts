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
		notes: text.slice(index + heading.length, headings[i + 1]?.index).replace(linkDefinitionPattern, '').trim(),
	}));
}

/** The state of a clone that decides whether it may be released. */
export interface ReleaseState {
	/** The version in package.json. */
	version: string;
	/** The two versions in package-lock.json. */
	lockedVersions: string[];
	/** The current branch; empty if there is none. */
	branch: string;
	/** The tag to release; undefined if it does not exist yet. */
	tag: string | undefined;
	/** The tags of HEAD and of every other commit. */
	tags: { head: string[]; others: string[] };
	/** Files that are changed or untracked. */
	changedFiles: string[];
	changelog: ChangelogEntry[];
}

export const releaseBranch = 'main';

/** Semantic Versioning 2.0.0, without build metadata, which npm drops. */
const versionPattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;

/** Every reason not to release, with its remedy; empty if there is none. */
export function refusals(state: ReleaseState): string[] {
	const { version, lockedVersions, branch, tag, tags, changedFiles, changelog } = state;
	const versionTag = `v${version}`;
	const entry = changelog.find((candidate) => candidate.version === version);
	const rules: Array<[boolean, string]> = [
		[!versionPattern.test(version), `The version ${version} in package.json is not one of Semantic Versioning, such as 1.2.3.`],
		[
			lockedVersions.some((locked) => locked !== version),
			`package-lock.json has the version ${lockedVersions.join(' and ')}, package.json has ${version}. Set both with: npm version --no-git-tag-version <version>`,
		],
		[tag === undefined && branch !== releaseBranch, `Releases are made from ${releaseBranch}, and this is ${branch || 'a commit without a branch'}.`],
		[tag !== undefined && tag !== versionTag, `The tag ${tag} is not that of the version in package.json, which is ${versionTag}.`],
		[tag === versionTag && !tags.head.includes(versionTag), `The commit that is checked out does not have the tag ${versionTag}.`],
		[tags.others.includes(versionTag), `Another commit has the tag ${versionTag}: that version is released. Raise the version in package.json.`],
		[changedFiles.length > 0, `These files are not committed: ${changedFiles.join(', ')}. Commit or remove them.`],
		[entry === undefined, `CHANGELOG.md has no entry for ${version}. Add "## [${version}] - YYYY-MM-DD" with what users notice.`],
		[entry !== undefined && (entry.date === undefined || Number.isNaN(Date.parse(entry.date))), `The entry for ${version} in CHANGELOG.md has no date. Write "## [${version}] - YYYY-MM-DD".`],
		[entry?.notes === '', `The entry for ${version} in CHANGELOG.md is empty.`],
	];
	return rules.filter(([applies]) => applies).map(([, reason]) => reason);
}
