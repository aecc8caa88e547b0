import { parseOpenApi, type OpenApiDocument } from './openapi';
import { sha256 } from '../../base/digest';
import { getOrCreate, RecentMap } from '../../base/maps';
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

export interface DocumentLocation {
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

interface CachedDocument {
	document: OpenApiDocument;
	url: string;
	/** Digest of its text. */
	content: string;
	/** Unix epoch milliseconds. */
	readAt: number;
}

// Each process of n8n fills its own cache, which costs one request. A document takes megabytes, so credentials with equal
// documents share one; those of 50 credentials are kept.
const cache = new RecentMap<string, CachedDocument>(50);

type ReadDocument = { document: OpenApiDocument; content: string } | { why: string; isMissing?: boolean };

// Executions that start at once share the reading under way.
const readings = new Map<string, Promise<ReadDocument>>();

/**
 * Loads the service's description, at most every five minutes. If it cannot be read, the last copy is used, however old, or
 * else the packaged description, which describes the sandbox: other services may name things differently.
 */
export async function loadDocument(location: DocumentLocation, clock: Clock): Promise<LoadedDocument> {
	const { url, viewer } = location;
	const key = sha256(JSON.stringify([url, viewer]));
	const stale = cache.get(key);
	if (stale && stale.readAt + freshFor > clock.now()) return { document: stale.document, isPackaged: false };

	const isShared = readings.has(key);
	let result = await getOrCreate(readings, key, () => readDocument(location, clock).finally(() => readings.delete(key)));
	// The other reading may have failed because its execution was canceled.
	if (isShared && 'why' in result && !result.isMissing) result = await readDocument(location, clock);
	if ('document' in result) {
		const { content } = result;
		const { document } = [...cache.values()].find((other) => other.url === url && other.content === content) ?? result;
		cache.set(key, { document, url, content, readAt: clock.now() });
		return { document, isPackaged: false };
	}
	const why = `The API description at ${shownUrl(url)} could not be read: ${result.why.replace(/\.$/, '')}.`;
	if (stale) {
		const notice = `${why} The copy from ${new Date(stale.readAt).toISOString()} was used instead.`;
		return { document: stale.document, isPackaged: false, notice };
	}
	const packaged = { document: await packagedDocument(), isPackaged: true };
	const noticeOf = (limits: string) =>
		`${why} The description packaged with the node was used instead: ${limits}. Writes with an uncertain outcome were not retried.`;
	if (result.isMissing) return { ...packaged, notice: noticeOf('fields may be missing or rejected') };
	const whyUnsent = 'It is unknown whether the CRM supports this, so nothing was sent';
	return {
		...packaged,
		whyUnread: `${why} ${whyUnsent}. Try again, or correct the API description URL in the credential.`,
		notice: noticeOf('it is not used for filters, Match On, names instead of IDs, or fields that it does not have'),
	};
}

async function readDocument({ url, address, signed, anonymous }: DocumentLocation, clock: Clock): Promise<ReadDocument> {
	if (!URL.canParse(url)) return { why: 'this is not a URL' };
	const send = createSender({
		transport: new URL(url).origin === new URL(address).origin ? signed : anonymous,
		address: url,
		shownAddress: shownUrl(url),
		clock,
		limits: { attempts: 2, ...equalWaits(5_000) },
		timeout: 15_000,
		totalTimeout: 30_000,
	});
	const answer = await send({ method: 'GET', path: '', isWholePath: true });
	if (!answer.ok) {
		const { message, status, details: { answer: excerpt } } = answer.problem;
		return { why: typeof excerpt === 'string' ? `${message}. It begins with: ${excerpt}` : message, isMissing: status === 404 };
	}
	try {
		const document = parseOpenApi(answer.response.body);
		const text = JSON.stringify(document);
		return text.length > 5_000_000 ? { why: `it has more than 5 MB, ${ruleOne}` } : { document, content: sha256(text) };
	} catch (error) {
		return { why: `${(error as Error).message}, ${ruleOne}` };
	}
}

const ruleOne = `which breaks ${ruleNumber(1)}`;

let snapshot: OpenApiDocument | undefined;

export async function packagedDocument(): Promise<OpenApiDocument> {
	snapshot ??= parseOpenApi((await import('../../../../contract/openapi.json')).default);
	return snapshot;
}
