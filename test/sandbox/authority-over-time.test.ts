import { scopes } from '../../sandbox/domain/access/scopes.ts';
import { JobQueue } from '../../sandbox/api/jobs/job-queue.ts';
import { resources } from '../../sandbox/core/schemas/index.ts';
import { type Job, jobOperations, jobs } from '../../sandbox/core/schemas/jobs.ts';
import { firstVersion } from '../../sandbox/core/schemas/record.ts';
import { arrangeRecord, type Resource } from '../../sandbox/core/schemas/resource.ts';
import { until } from '../until.ts';
import { type TokenSandbox, tokenSandbox } from './harness/access-tokens.ts';
import { createFixtures, type Fixtures, namesOfRecordTypes, resourceOf, valuesOf } from './harness/record-writes.ts';
import type { Json } from './harness/in-process.ts';
import { ndjson } from './harness/job-client.ts';
import {
	type Beginner, type End, endRights, mayStill, newBeginner, serviceOf, standings, standingsInTurn,
} from './harness/ending-rights.ts';

const everyScope = [...scopes.keys()];
/** One more than a step takes, so that the end comes between two steps. */
const lines = 101;
const recordsPerStep = 500;

let sandbox: TokenSandbox;
let fixtures: Fixtures;
let queue: JobQueue;
beforeAll(async () => {
	sandbox = tokenSandbox();
	queue = new JobQueue(serviceOf(sandbox));
	fixtures = await createFixtures(sandbox);
});

type Operation = Job['operation'];

/** Stores a job as a request does. Only the test works on it. */
function beginJob(resource: Resource, operation: Operation, id: string, who: Beginner): Job {
	const { store } = sandbox;
	const at = store.writeClock.stamp(Date.now());
	const isAboutOne = operation === 'update' || operation === 'delete';
	const jobId = `job_${resource.name}_${operation}_${who.caller.id}`.replaceAll('/', '_');
	const matchOn = Object.keys(resource.unique)[0];
	const job = arrangeRecord(jobs, {
		id: jobId,
		object: jobs.object,
		resource: resource.name,
		operation,
		match_on: operation === 'upsert' ? matchOn : null,
		query: operation === 'export' ? {} : null,
		status: 'queued',
		...{ total: operation === 'export' ? 1 : lines, processed: 0, succeeded: 0, failed: 0 },
		request: { id: 'req_1', idempotency_key: null },
		...firstVersion(who.caller, at),
	}) as Job;
	store.table(jobs.name)!.save(job);
	if (who.grant) store.creationGrants.set(jobId, who.grant);
	for (let position = 0; operation !== 'export' && position < lines; position++) {
		const values = isAboutOne ? { id } : valuesOf(resource, fixtures);
		store.jobLines.add(jobId, { position, text: JSON.stringify(values) });
	}
	return job;
}

/** What is wrong in a cell of the table, if anything. */
async function flaw(resource: Resource, operation: Operation, id: string, who: Beginner, end: End) {
	const { store } = sandbox;
	const job = beginJob(resource, operation, id, who);
	const isExport = operation === 'export';
	const table = store.table(jobs.name)!;
	// The end comes between two steps, or before the only one.
	const isLong = who.role !== 'member' && store.table(resource.name)!.count([]) > recordsPerStep;
	if (!isExport || isLong) await queue.step(job.id);
	const { processed: soFar } = table.find(job.id) as Job;
	await endRights(sandbox, who, end);
	const before = store.table(resource.name)!.count([], { includeDeleted: true });
	while (!table.find(job.id)!['finished_at']) await queue.step(job.id);
	const createdCount = store.table(resource.name)!.count([], { includeDeleted: true }) - before;
	const { status, error, processed } = table.find(job.id) as Job;
	const isAllowed = mayStill(who, end, isExport ? 'read' : 'write', resource.name) && mayStill(who, end, 'write', jobs.name);
	const cell = `${operation} of ${resource.name} by ${who.role}, ${end}: ${status} (${error})`;
	if (isAllowed) return status === 'completed' ? undefined : cell;
	const isEnded = status === 'canceled' && Boolean(error) && processed === soFar;
	const results = store.jobResults.page(job.id, -1, 1000).length;
	return isEnded && createdCount === 0 && results === processed ? undefined : cell;
}

async function flaws(resource: Resource): Promise<string[]> {
	const found: string[] = [];
	const isUnique = Object.keys(resource.unique).length > 0;
	const operations = jobOperations.filter((operation) => operation !== 'upsert' || isUnique);
	const placeOfType = resources.findIndex(({ name }) => name === resource.name);
	for (const [i, operation] of operations.entries()) {
		for (const [role, end] of standingsInTurn(placeOfType + 1 + i, operations.length)) {
			const who = await newBeginner(sandbox, role, everyScope);
			const { body }: Json = await sandbox.post(`/v1/${resource.name}`, valuesOf(resource, fixtures));
			const problem = await flaw(resource, operation, body.id, who, end);
			if (problem !== undefined) found.push(problem);
		}
	}
	return found;
}

test.each(namesOfRecordTypes)('jobs of %s stop at the line where the right to them ends', async (recordType) => {
	expect(await flaws(resourceOf(recordType, fixtures))).toEqual([]);
});

test('an administrator who removes their own role in a job changes no users after that line', async () => {
	const who = await newBeginner(sandbox, 'admin', everyScope);
	const others = await Promise.all(['viewer', 'viewer'].map((role) => sandbox.newUser(role)));
	const change = [
		{ id: others[0], first_name: 'before' },
		{ id: who.caller.id, role: 'member' },
		{ id: others[1], first_name: 'after' },
	];
	const text = change.map((line) => JSON.stringify(line)).join('\n');
	const { body } = await who.call('POST', '/v1/jobs?resource=users&operation=update', text, ndjson);
	const table = sandbox.store.table(jobs.name)!;
	await until(() => table.find(body.id)!['finished_at']);
	expect(table.find(body.id)).toMatchObject({ status: 'canceled', processed: 2, succeeded: 2 });
	expect((await sandbox.get(`/v1/users/${others[1]}`)).body.first_name).toBeNull();
});

test('an administrator who removes their own role in a batch changes no users after that item', async () => {
	for (const end of [{ role: 'member' }, { status: 'deactivated' }]) {
		const who = await newBeginner(sandbox, 'admin', everyScope);
		const other = await sandbox.newUser('viewer');
		const items = [{ id: who.caller.id, ...end }, { id: other, first_name: 'after' }];
		const { body } = await who.call('POST', '/v1/users/batch/update', { items });
		expect(body.results).toMatchObject([{ status: 200 }, { status: 'role' in end ? 403 : 401 }]);
		expect((await sandbox.get(`/v1/users/${other}`)).body.first_name).toBeNull();
	}
});

/** A body that arrives after something else has happened. */
const bodyAfter = (happen: () => unknown, text: string) =>
	new ReadableStream<Uint8Array>({
		async pull(controller) {
			await happen();
			controller.enqueue(new TextEncoder().encode(text));
			controller.close();
		},
	});

test.each(standings.filter(([, end]) => end !== 'nothing'))(
	'a request of a %s whose body arrives after the end (%s) does only what is still allowed',
	async (role, end) => {
		for (const resource of resources) {
			const who = await newBeginner(sandbox, role, everyScope);
			const before = sandbox.store.table(resource.name)!.count([], { includeDeleted: true });
			const body = bodyAfter(() => endRights(sandbox, who, end), JSON.stringify(valuesOf(resource, fixtures)));
			const { status } = await who.call('POST', `/v1/${resource.name}`, body);
			const createdCount = sandbox.store.table(resource.name)!.count([], { includeDeleted: true }) - before;
			const isAllowed = mayStill(who, end, 'write', resource.name);
			const wasAllowed = mayStill(who, 'nothing', 'write', resource.name);
			const refusal = end === 'demotion' || !wasAllowed ? 403 : 401;
			expect([resource.name, status, createdCount]).toEqual([resource.name, isAllowed ? 201 : refusal, Number(isAllowed)]);
		}
	},
);

let time = Date.now();

test.each([
	['is revoked', 401, ({ store }: TokenSandbox, token: string) => store.tokens.deleteAccess(token)],
	['expires', 201, () => (time += 3_600_000)],
])('a request whose access token %s while its body arrives is answered with %i', async (_, status, end) => {
	const sandbox = tokenSandbox({ now: () => time });
	const { access } = sandbox.grant(sandbox.admin, everyScope);
	const body = bodyAfter(() => end(sandbox, access), '{"last_name":"Late"}');
	expect((await sandbox.with(access)('POST', '/v1/contacts', body)).status).toBe(status);
	expect((await sandbox.with(access)('GET', '/v1/contacts')).status).toBe(401);
});
