import { scopes } from '../../../sandbox/domain/access/scopes.ts';
import { JobQueue } from '../../../sandbox/api/jobs/job-queue.ts';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import { type Job, jobOperations, jobs } from '../../../sandbox/core/schemas/jobs.ts';
import { firstVersion } from '../../../sandbox/core/schemas/record.ts';
import { arrangeRecord, type Resource } from '../../../sandbox/core/schemas/resource.ts';
import { type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';
import { createFixtures, type Fixtures, namesOfRecordTypes, resourceOf, valuesOf } from '../harness/record-writes.ts';
import type { Json } from '../harness/in-process.ts';
import {
	type Beginner, type End, endRights, mayStill, newBeginner, serviceOf, standingsInTurn,
} from '../harness/ending-rights.ts';

const everyScope = [...scopes.keys()];
/** One more than a step takes, so that the end comes between two steps. */
const lines = 101;
const recordsPerStep = 100;

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
	if (!isExport || isLong) queue.step(job.id);
	const { processed: soFar } = table.find(job.id) as Job;
	await endRights(sandbox, who, end);
	const before = store.table(resource.name)!.count([], { includeDeleted: true });
	while (!table.find(job.id)!['finished_at']) queue.step(job.id);
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

test.each(namesOfRecordTypes)('jobs of %s stop at the step where the right to them ends', async (recordType) => {
	expect(await flaws(resourceOf(recordType, fixtures))).toEqual([]);
});
