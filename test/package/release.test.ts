import { readFileSync } from 'node:fs';
import { parseChangelog, refusals, type ReleaseState } from '../../tools/release-refusals.ts';

const changelogText = `# Changelog

## [Unreleased]

## [1.1.0] - 2026-12-01

### Added

- Deals.

## [1.0.0] - 2026-11-22

### Added

- Contacts.

[1.1.0]: https://example.com/1.1.0
`;

describe('A changelog', () => {
	test('has an entry for each version, with its date and notes', () => {
		expect(parseChangelog(changelogText)).toEqual([
			{ version: 'Unreleased', date: undefined, notes: '' },
			{ version: '1.1.0', date: '2026-12-01', notes: '### Added\n\n- Deals.' },
			{ version: '1.0.0', date: '2026-11-22', notes: '### Added\n\n- Contacts.' },
		]);
	});

	test('is the same with Windows line ends', () => {
		const versions = parseChangelog(changelogText.replaceAll('\n', '\r\n')).map(({ version }) => version);
		expect(versions).toEqual(['Unreleased', '1.1.0', '1.0.0']);
	});
});

describe('A release', () => {
	const ready: ReleaseState = {
		version: '1.1.0',
		lockedVersions: ['1.1.0'],
		branch: 'main',
		tag: undefined,
		tags: { head: [], others: ['v1.0.0'] },
		changedFiles: [],
		changelog: parseChangelog(changelogText),
	};

	test('is made from a clean main branch with a changelog entry', () => {
		expect(refusals(ready)).toEqual([]);
	});

	test('is made from its tag, whatever the branch', () => {
		const tags = { head: ['v1.1.0'], others: ['v1.0.0'] };
		expect(refusals({ ...ready, branch: '', tag: 'v1.1.0', tags })).toEqual([]);
	});

	test.each<[string, Partial<ReleaseState>, string]>([
		['from another branch', { branch: 'fix' }, 'made from main, and this is fix'],
		['without a branch', { branch: '' }, 'a commit without a branch'],
		['with changes', { changedFiles: ['README.md'] }, 'not committed: README.md'],
		['without an entry', { changelog: [] }, 'no entry for 1.1.0'],
		['without a date', { changelog: [{ version: '1.1.0', date: undefined, notes: '- Deals.' }] }, 'has no date'],
		['with an invalid date', { changelog: [{ version: '1.1.0', date: '2026-13-45', notes: '- Deals.' }] }, 'has no date'],
		['with an empty entry', { changelog: [{ version: '1.1.0', date: '2026-12-01', notes: '' }] }, 'is empty'],
		['of a version that npm does not take', { version: '1.1' }, 'not one of Semantic Versioning'],
		['with another locked version', { lockedVersions: ['1.0.0'] }, 'has the version 1.0.0'],
		['a second time', { tags: { head: [], others: ['v1.1.0'] } }, 'that version is released'],
		['of another tag', { tag: 'v1.2.0' }, 'not that of the version'],
		['of a tag that is elsewhere', { tag: 'v1.1.0' }, 'does not have the tag v1.1.0'],
	])('is refused %s', (_, change, reason) => {
		expect(refusals({ ...ready, ...change }).join('\n')).toContain(reason);
	});

	test('of this clone has an entry', () => {
		const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
		const changelog = parseChangelog(readFileSync('CHANGELOG.md', 'utf8'));
		expect(refusals({ ...ready, version, lockedVersions: [version], changelog })).toEqual([]);
	});
});
