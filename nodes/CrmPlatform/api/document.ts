import { createHash } from 'node:crypto';

import { parseOpenApi, type OpenApiDocument } from './openapi';
import { createSender, type Clock } from './request';
import { retryPolicy } from './retry';
import type { Transport } from './transport';

export interface LoadedDocument {
	document: OpenApiDocument;
	/** Set when the service's own document could not be had and the packaged one serves. */
	notice?: string;
}

export interface DocumentSource {
	/** Where the service publishes its OpenAPI document. */
	url: string;
	/** Address of the service: the credential is sent to it and to nobody else. */
	address: string;
	/** Whatever the answer may depend on, so that accounts never see each other's. */
	secret: string;
	signed: Transport;
	anonymous: Transport;
}

/** Milliseconds a document is taken as current. */
const freshFor = 5 * 60_000;
const mostKept = 50;

// A saving and no more: each process of n8n fills its own, and an empty one costs one request.
const kept = new Map<string, { loaded: LoadedDocument; until: number }>();

/** The service's description, from its address or, where that fails, from the package. */
export async function loadDocument(source: DocumentSource, clock: Clock): Promise<LoadedDocument> {
	const { url, secret } = source;
	const key = createHash('sha256').update(JSON.stringify([url, secret])).digest('hex');
	const known = kept.get(key);
	if (known && known.until > clock.now()) return known.loaded;

	const read = await readDocument(source, clock);
	if (typeof read === 'string') {
		return {
			document: await packaged(),
			notice: `The service’s description at ${url} could not be read: ${read}. The description packaged with the node was used instead, so fields may be missing or refused.`,
		};
	}
	const loaded = { document: read };
	kept.delete(key);
	kept.set(key, { loaded, until: clock.now() + freshFor });
	const [oldest] = kept.keys();
	if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
	return loaded;
}

/** The document at its address, or why it could not be had. */
async function readDocument(
	{ url, address, signed, anonymous }: DocumentSource,
	clock: Clock,
): Promise<OpenApiDocument | string> {
	if (!URL.canParse(url)) return 'that is not a web address';
	const send = createSender({
		transport: new URL(url).origin === new URL(address).origin ? signed : anonymous,
		address: url,
		clock,
		policy: { ...retryPolicy, tries: 2, longestWait: 5_000 },
		timeout: 15_000,
	});
	const outcome = await send({ method: 'GET', path: '' });
	if (!outcome.ok) return outcome.problem.message;
	return parseOpenApi(outcome.response.body) ?? 'what it answers is not an OpenAPI 3 document';
}

let snapshot: OpenApiDocument | undefined;

async function packaged(): Promise<OpenApiDocument> {
	snapshot ??= parseOpenApi((await import('../../../contract/openapi.json')).default);
	if (snapshot) return snapshot;
	throw new Error('The description packaged with the node is damaged. Install the node again.');
}
