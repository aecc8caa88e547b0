import { isObject, parseJson } from '../../base/json';
import { wholeNumber } from '../../base/numbers';
import { valueAtPointer } from '../../base/ownMembers';
import type { ListDescription } from '../openapi/listing';
import type { CursorPlace } from '../openapi/paging';

/** The members of a response that say whether and where a list continues. */
export interface Continuation {
	/** The cursor of the next page; null if the response says that there is none; undefined if it says nothing. */
	cursor: string | null | undefined;
	/** Another member that announces more records, such as `has_more`. */
	announcedBy?: string;
	/** A member that may announce more records if there is no cursor, such as `total_pages`. */
	maybeAnnouncedBy?: string;
	/** Whether the response says that there are no more records. */
	isLast: boolean;
	/** Number of records in the whole list. */
	total?: number;
}

interface Answer {
	status: number;
	body: Readonly<Record<string, unknown>>;
	/** Lower-case names. */
	headers: Readonly<Record<string, string | undefined>>;
}

/** Reads what a page says about further pages: its cursor, in the described or a usual place, and other members. */
export function readContinuation(
	{ status, body, headers }: Answer,
	list: Pick<ListDescription, 'cursor' | 'next' | 'ambiguousNext'>,
	read: number,
): Continuation {
	const found = announcementsIn([...Object.entries(body), ...Object.entries(headers).map(inHeader)], read);
	const linked = [...new Set(nextLinks(headers.link, list.cursor))];
	const at = (place: CursorPlace) => ('header' in place ? headers[place.header] : valueAtPointer(body, place.path));
	const cursors = [list.next && at(list.next), body.next_cursor, linked.length === 1 ? linked[0] : undefined].map(cursorOf);
	const cursor = cursors.find((candidate) => typeof candidate === 'string') ?? (cursors.includes(null) ? null : undefined);
	const range = /(\d+)-(\d+)\/(\d+|\*)/.exec(headers['content-range'] ?? '')?.slice(1).map((digits) => wholeNumber(digits)) ?? [];
	const [, last = 0, counted] = range;
	const isCut = counted === undefined ? status === 206 : last + 1 < counted;
	const total = wholeNumber(body.total) ?? wholeNumber(headers['x-total-count'] ?? headers['x-total']) ?? counted;
	const [announcedBy] = [
		...(cursors.includes(unreadable) ? ['a next_cursor that is neither text nor a number'] : []),
		...(linked.length > 1 || linked.includes(undefined) ? ['a Link header'] : []),
		...(isCut ? [range.length > 0 ? 'Content-Range' : 'the status 206'] : []),
		...((list.ambiguousNext ?? []).some((place) => isFilled(at(place))) ? ['a link of its API description'] : []),
		...found.announcing,
	];
	const [maybeAnnouncedBy] = found.maybeAnnouncing;
	return {
		cursor,
		isLast: found.isLast,
		...(announcedBy !== undefined && { announcedBy }),
		...(maybeAnnouncedBy !== undefined && { maybeAnnouncedBy }),
		...(total !== undefined && { total }),
	};
}

/** A header as a member: `X-Has-More: true`, `X-Pagination: {"next": 2}`. */
const inHeader = ([name, value]: [string, string | undefined]): [string, unknown] => [
	name.replace(/^x-/, ''),
	name === 'link' ? undefined : (parseJson(value ?? '') ?? value),
];

type Cursor = string | null | undefined;

const unreadable = Symbol('unreadable');

function cursorOf(value: unknown): Cursor | typeof unreadable {
	if (typeof value === 'number') return String(value);
	if (typeof value === 'string') return value.trim() === '' ? null : value;
	if (value === undefined || value === null) return value;
	return value === false ? null : unreadable;
}

const linkValue = /<([^<>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;
const linkParameter = /;\s*([^\s=;,]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g;

/**
 * The cursors in the URLs of links with `rel="next"` (RFC 8288, section 3).
 *
 * @returns undefined in place of an unreadable cursor
 */
function nextLinks(header = '', parameter: string): Array<string | undefined> {
	const found = [...header.matchAll(linkValue)].flatMap(([, address = '', parameterText = '']) => {
		const matches = [...parameterText.matchAll(linkParameter)];
		const parameters = matches.map(([, name = '', quoted, plain = '']) => [name.toLowerCase(), quoted ?? plain]);
		const valueOf = (parameterName: string) => parameters.find(([name]) => name === parameterName)?.[1] ?? '';
		if (!valueOf('rel').toLowerCase().replace(/'/g, '').split(/\s+/).includes('next')) return [];
		// A link with an anchor leads to the next page of something else.
		const isOwn = valueOf('anchor') === '' && URL.canParse(address, 'https://list.invalid');
		return [(isOwn && new URL(address, 'https://list.invalid').searchParams.get(parameter)) || undefined];
	});
	return /next/i.test(header.replace(linkValue, '')) ? [...found, undefined] : found;
}

/** Deeper members do not announce further pages. */
const maxDepth = 3;
const maxMembers = 500;

interface Announcements {
	/** The members that announce more records, and those that may. */
	announcing: string[];
	maybeAnnouncing: string[];
	isLast: boolean;
}

/** Members of a response, other than its records, whose names announce further records. */
function announcementsIn(members: Array<[string, unknown]>, read: number): Announcements {
	const found: Announcements = { announcing: [], maybeAnnouncing: [], isLast: false };
	let level = members.filter(([name]) => name !== 'data' && name !== 'next_cursor');
	for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
		for (const [place, value] of level) {
			const name = (place.split('.').at(-1) ?? '').toLowerCase().replace(/[^a-z]/g, '');
			if (saysMore(name, value)) found.announcing.push(place);
			else if (maySayMore(name, value, read)) found.maybeAnnouncing.push(place);
			else if (saysLast(name, value)) found.isLast = true;
		}
		level = level.flatMap(([place, value]) => membersOf(value).map(([name, inner]): [string, unknown] => [`${place}.${name}`, inner]));
		level = level.slice(0, maxMembers);
	}
	return found;
}

function membersOf(value: unknown): Array<[string, unknown]> {
	if (isObject(value)) return Object.entries(value);
	// `links: [{ rel: 'next', href }]`
	const links = Array.isArray(value) ? value.filter(isObject).slice(0, 10) : [];
	return links.flatMap(({ rel, href }): Array<[string, unknown]> => (typeof rel === 'string' ? [[rel, href]] : []));
}

const recordNouns = '(records|results|items|pages?|data|rows|entries|elements|hits)';
const moreFlag = new RegExp(`^(has|is|are|there(is|are)?)?(more|next)(${recordNouns}|available|exists?)*$`);
const cutFlag = /^(is)?(incomplete|truncated|partial)(results?|list|response)?$/;
const lastFlag = /^(is)?(the)?(last|final)(page|batch|chunk)?$|^(is)?end(of)?(the)?(list|results|data)?$/;
const doneFlag = /^(is)?(all)?(complete|completed|done|finished|eof|exhausted)$/;
const nextPlace = new RegExp(
	`^(odata)?next(${recordNouns}|cursor|token|ur[il]|link|href|offset|key|id|marker|batch|set|range|start|chunk|list|position|query|request|after|from|index|value)*$`,
);
const otherPlace = /^(page|paging|end|continuation|continue|resume|scroll|starting|search)?(after|cursor|token|continuation|marker|bookmark|scrollid)$/;
const count = new RegExp(`^(total|overall|full|all)(count|size|matches|number|available|${recordNouns})*$|^${recordNouns}?count(total)?$|^(available|matching)(count|${recordNouns})$`);
const pages = /^(total|number|num|last|max)(of)?pages?$|^pages?(count|total)$/;
const rest = new RegExp(`^remaining(count|${recordNouns})?$`);

/** Whether a member says that more records follow. */
function saysMore(name: string, value: unknown): boolean {
	if (typeof value === 'boolean') return value && (moreFlag.test(name) || cutFlag.test(name));
	return nextPlace.test(name) && isFilled(value);
}

/** Whether a member may announce more records. Used only if nothing clearer is said, since it may mean something else. */
function maySayMore(name: string, value: unknown, read: number): boolean {
	if (typeof value === 'boolean') return !value && (lastFlag.test(name) || doneFlag.test(name));
	if (otherPlace.test(name)) return isFilled(value);
	const number = wholeNumber(value) ?? 0;
	return (count.test(name) && number > read) || (pages.test(name) && number > 1) || (rest.test(name) && number > 0);
}

const saysLast = (name: string, value: unknown): boolean =>
	(value === false && moreFlag.test(name)) || (value === true && lastFlag.test(name));

/** Whether a value may be the place of a next page: not empty, and not a list or a boolean. */
function isFilled(value: unknown): boolean {
	if (!isObject(value)) return !Array.isArray(value) && Boolean(value) && value !== true;
	return Object.values(value).some((member) => (typeof member === 'string' && member !== '') || typeof member === 'number');
}
