import { createHash } from 'node:crypto';

import { parseOpenApi, type OpenApiDocument } from './openapi';
import { createSender, type Clock } from '../http/request';
import { retryPolicy } from '../http/retry';
import type { Transport } from '../http/transport';

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

interface Kept {
	document: OpenApiDocument;
	/** Of its address and all it says. */
	digest: string;
	/** Unix epoch milliseconds. */
	until: number;
}

// A saving and no more: each process of n8n fills its own, and an empty one costs one request. A
// document takes megabytes, so those who were told the same share one.
const kept = new Map<string, Kept>();

/** The service's description, from its address or, where that fails, from the package. */
export async function loadDocument(source: DocumentSource, clock: Clock): Promise<LoadedDocument> {
	const { url, secret } = source;
	const key = digestOf([url, secret]);
	const known = kept.get(key);
	if (known && known.until > clock.now()) return { document: known.document };

	const read = await readDocument(source, clock);
	if (typeof read === 'string') {
		return {
			document: await packaged(),
			notice: `The service’s description at ${url} could not be read: ${read}. The description packaged with the node was used instead, so fields may be missing or refused.`,
		};
	}
	return { document: keep(key, url, read, clock.now()) };
}

/** The document, or the one kept already that says the same. */
function keep(key: string, url: string, read: OpenApiDocument, now: number): OpenApiDocument {
	const digest = digestOf([url, read]);
	const document = [...kept.values()].find((one) => one.digest === digest)?.document ?? read;
	for (const [other, { until }] of kept) if (until <= now) kept.delete(other);
	kept.delete(key);
	kept.set(key, { document, digest, until: now + freshFor });
	const [oldest] = kept.keys();
	if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
	return document;
}

const digestOf = (value: unknown): string =>
	createHash('sha256').update(JSON.stringify(value)).digest('hex');

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
	snapshot ??= parseOpenApi((await import('../../../../contract/openapi.json')).default);
	if (snapshot) return snapshot;
	throw new Error('The description packaged with the node is damaged. Install the node again.');
}
