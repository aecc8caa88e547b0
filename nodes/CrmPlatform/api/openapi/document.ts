import { parseOpenApi, type OpenApiDocument } from './openapi';
import { sha256 } from '../../base/digest';
import { getOrCreate, RecentMap } from '../../base/maps';
import type { Problem } from '../http/problem';
import type { Clock } from '../../base/clock';
import { createSender } from '../http/request';
import { equalWaits } from '../http/retry';
import { ruleNumber } from '../http/rules';
import { shownUrl } from '../http/secrets';
import type { Transport } from '../http/transport';

export interface LoadedDocument {
	document: OpenApiDocument;
	/** Whether it is the packaged one, which may not match this service. */
	isPackaged: boolean;
	/** Notice for the user that another copy replaces the service's document, which could not be read. */
	notice?: string;
	/**
	 * Why names of the packaged document must not be used: the service has its own document, which could not be read, and
	 * may ignore names that it lacks. Absent if the service has none: then the packaged one is assumed to match.
	 */
	whyUnread?: string;
}

export interface DocumentSource {
	/** Where the service publishes its OpenAPI document. */
	url: string;
	/** Address of the service. The credential is sent to no other address. */
	address: string;
	/** Equal for credentials that always see the same data. Documents are cached by it: no account sees another account's. */
	viewer: string;
	signed: Transport;
	anonymous: Transport;
}

/** Milliseconds until a document is read again. */
const freshFor = 5 * 60_000;
/** Maximum credentials in the cache. */
const maxCached = 50;

interface CachedDocument {
	document: OpenApiDocument;
	url: string;
	/** Unix epoch milliseconds. */
	readAt: number;
}

// Each process of n8n fills its own cache, which costs one request. A document takes megabytes, so credentials with equal
// documents share one.
const cache = new RecentMap<string, CachedDocument>(maxCached);

/** `retryAt` is when to read it again (Unix epoch milliseconds), if the service said so. */
type ReadOutcome = { document: OpenApiDocument } | { why: string; isMissing?: boolean; retryAt?: number | undefined };

// Executions that start at once share the reading under way.
const readings = new Map<string, Promise<ReadOutcome>>();

async function sharedReading(sourceDigest: string, read: () => Promise<ReadOutcome>): Promise<ReadOutcome> {
	const underWay = readings.get(sourceDigest);
	if (underWay) {
		const shared = await underWay;
		// The other reading may have failed because its execution was canceled.
		return 'why' in shared && !shared.isMissing ? await read() : shared;
	}
	const reading = read().finally(() => readings.delete(sourceDigest));
	readings.set(sourceDigest, reading);
	return await reading;
}

/**
 * Loads the service's description, at most every five minutes. If it cannot be read, the last copy is used, however old;
 * the packaged description is the last resort, since it describes the sandbox and other services may name things
 * differently.
 */
export async function loadDocument(source: DocumentSource, clock: Clock): Promise<LoadedDocument> {
	const { url, viewer } = source;
	const sourceDigest = digestOf([url, viewer]);
	const stale = cache.get(sourceDigest);
	if (stale && stale.readAt + freshFor > clock.now()) return { document: stale.document, isPackaged: false };

	const read = await sharedReading(sourceDigest, async () => await readDocument(source, clock));
	if (!('why' in read)) return { document: store(sourceDigest, url, read.document, clock.now()), isPackaged: false };
	const why = `The API description at ${shownUrl(url)} could not be read: ${read.why.replace(/\.$/, '')}.`;
	if (stale) {
		const notice = `${why} The copy from ${new Date(stale.readAt).toISOString()} was used instead.`;
		return { document: stale.document, isPackaged: false, notice };
	}
	const packaged = { document: await packagedDocument(), isPackaged: true };
	const noticeOf = (limits: string) =>
		`${why} The description packaged with the node was used instead: ${limits}. Writes with an uncertain outcome were not retried.`;
	if (read.isMissing) return { ...packaged, notice: noticeOf('fields may be missing or rejected') };
	const { retryAt: at } = read;
	const when = at === undefined ? ', or correct the API description URL in the credential' : ` after ${new Date(at).toISOString()}`;
	return {
		...packaged,
		whyUnread: `${why} It is unknown whether the CRM supports this, so nothing was sent. Try again${when}.`,
		notice: noticeOf('it is not used for filters, Match On, names instead of IDs, or fields that it does not have'),
	};
}

/** Caches a document, or the equal document that is already cached. */
function store(sourceDigest: string, url: string, read: OpenApiDocument, now: number): OpenApiDocument {
	const isSame = (cachedDocument: CachedDocument) =>
		cachedDocument.url === url && contentOf(cachedDocument.document) === contentOf(read);
	const document = [...cache.values()].find(isSame)?.document ?? read;
	cache.set(sourceDigest, { document, url, readAt: now });
	return document;
}

const digestOf = (value: unknown): string => sha256(JSON.stringify(value));

// Digests of documents, computed on demand: one takes milliseconds, and the first document of a process is compared with no other.
const contents = new WeakMap<OpenApiDocument, string>();
const contentOf = (document: OpenApiDocument): string => getOrCreate(contents, document, () => digestOf(document));

/** The document at its address, or why it could not be read, and whether the service has none. */
async function readDocument({ url, address, signed, anonymous }: DocumentSource, clock: Clock): Promise<ReadOutcome> {
	if (!URL.canParse(url)) return { why: 'this is not a URL' };
	const transport = new URL(url).origin === new URL(address).origin ? signed : anonymous;
	let size = 0;
	const send = createSender({
		transport: async (request) => {
			const result = await transport(request);
			size = 'text' in result ? result.text.length : 0;
			return result;
		},
		address: url,
		shownAddress: shownUrl(url),
		clock,
		limits: { attempts: 2, ...equalWaits(5_000) },
		timeout: 15_000,
		totalTimeout: 30_000,
	});
	const outcome = await send({ method: 'GET', path: '', isWholePath: true });
	if (!outcome.ok) {
		const { status, retryAt } = outcome.problem;
		return { why: whyUnreadable(outcome.problem), isMissing: status === 404, retryAt };
	}
	if (size > maxSize) return { why: `it has more than 5 MB, ${ruleOne}` };
	try {
		return { document: parseOpenApi(outcome.response.body) };
	} catch (error) {
		return { why: `${(error as Error).message}, ${ruleOne}` };
	}
}

/** Maximum length (characters) of a description. */
const maxSize = 5_000_000;

const ruleOne = `which breaks ${ruleNumber(1)}`;

function whyUnreadable({ message, details: { answer } }: Problem): string {
	if (typeof answer !== 'string') return message;
	const isYaml = /^(%YAML|---|#|["']?(openapi|swagger|info)["']?\s*:)/.test(answer);
	return isYaml ? `it is YAML, but the node reads only JSON, ${ruleOne}` : `${message}. It begins with: ${answer}`;
}

let snapshot: OpenApiDocument | undefined;

/** The description packaged with the node. */
export async function packagedDocument(): Promise<OpenApiDocument> {
	snapshot ??= parseOpenApi((await import('../../../../contract/openapi.json')).default);
	return snapshot;
}
