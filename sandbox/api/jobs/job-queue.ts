import { publishDomainEvents } from '../../domain/events/publish.ts';
import { Problem } from '../../core/foundation/problem.ts';
import { type Job, jobs, type JobStatus } from '../../core/schemas/jobs.ts';
import type { StoredRecord } from '../../core/schemas/resource.ts';
import type { Service } from '../../core/service.ts';
import { equals } from '../../core/store/records/condition.ts';
import type { Table } from '../../core/store/records/table.ts';
import type { Exported } from './export.ts';
import { readForStep, runJobStep } from './job-step.ts';
import type { Store } from '../../core/store/store.ts';

const runningAtOnce = 5;
const notProcessed = 'Lines without a result were not processed.';
const resultsKeptForMs = 7 * 24 * 60 * 60 * 1000;

/** The job queue. Its whole state is in the store, so jobs continue after a restart. */
export class JobQueue {
	private readonly service: Service;
	private readonly table: Table;

	constructor(service: Service) {
		this.service = service;
		this.table = service.store.table(jobs.name)!;
	}

	/** The jobs to work on: those in progress, then queued ones in order of arrival. */
	jobsToRun(): Job[] {
		const jobsInProgress = this.inStatus('processing', runningAtOnce);
		return [...jobsInProgress, ...this.inStatus('queued', runningAtOnce - jobsInProgress.length)];
	}

	/**
	 * Processes the next lines of a job. Results and progress are stored in one transaction, so that a
	 * crash neither repeats nor skips a line.
	 *
	 * @returns whether there are lines left
	 */
	async step(id: string): Promise<boolean> {
		const { store, background } = this.service;
		if (!store.isOpen) return false;
		try {
			const exported = await readForStep(this.service, this.table.find(id) as Job);
			return await background.run(() => store.isOpen && this.runStep(id, exported));
		} catch (error) {
			if (!store.isOpen) return false;
			if (!(error instanceof Problem)) console.error(error);
			const reason = error instanceof Problem ? error.message : 'The service failed.';
			store.transaction(() => this.end(this.table.find(id) as Job, 'failed', `${reason} ${notProcessed}`));
			return false;
		}
	}

	private runStep(id: string, exported: Exported | undefined): boolean {
		return this.service.store.transactionOfParts((part) => {
			const job = this.table.find(id) as Job;
			if (hasEnded(job)) return false;
			const { progress, isLast, stopReason } = runJobStep(this.service, job, part, exported);
			const done = { ...job, started_at: job.started_at ?? this.now(), ...progress };
			if (stopReason !== undefined) this.end(done, 'canceled', `${stopReason} ${notProcessed}`);
			else if (isLast) this.end(done, 'completed');
			else this.save(job, { ...done, status: 'processing' });
			return stopReason === undefined && !isLast;
		});
	}

	/**
	 * Cancels a job. Lines that were processed stay processed.
	 *
	 * @throws Problem invalid_state_transition if the job has ended already
	 */
	cancel(job: Job): Job {
		if (!hasEnded(job)) return this.end(job, 'canceled');
		throw new Problem('invalid_state_transition', `The job has already ended: it is ${job.status}.`, {
			members: { from: job.status, to: 'canceled', allowed: [] },
		});
	}

	private end(job: Job, status: JobStatus, error: string | null = null): Job {
		const { jobLines, creationGrants } = this.service.store;
		jobLines.drop(job.id);
		creationGrants.drop(job.id);
		const expireAt = new Date(this.service.now() + resultsKeptForMs).toISOString();
		return this.save(job, { status, error, finished_at: this.now(), results_expire_at: expireAt });
	}

	private save(job: Job, change: Partial<StoredRecord>): Job {
		const { service } = this;
		const at = service.store.writeClock.stamp(service.now());
		const saved = { ...job, ...change, version: job.version + 1, updated_at: at };
		this.table.save(saved);
		const { created_by: actor, request } = job;
		const context = { ...service, resource: jobs, actor, request, now: service.now() };
		publishDomainEvents(context, saved, job);
		return saved;
	}

	private inStatus(status: JobStatus, limit: number): Job[] {
		const conditions = [equals('status', status)];
		const order = [{ column: 'id', descending: false }];
		const selection = { conditions, order, after: undefined, includeDeleted: false, limit };
		return this.table.page(selection).map((document) => JSON.parse(document) as Job);
	}

	private now(): string {
		return new Date(this.service.now()).toISOString();
	}
}

export const hasEnded = ({ finished_at: finishedAt }: Job): boolean => finishedAt !== null;

/**
 * Processes jobs while there are any, one step at a time, and answers requests in between. Jobs do not wait
 * for each other's reads.
 *
 * @returns a function to call whenever there may be work
 */
export function jobWorker(store: Store, queue: JobQueue): () => void {
	const underWay = new Set<string>();
	const finish = async (id: string) => {
		while (await queue.step(id));
	};
	const wake = () => {
		if (!store.isOpen) return;
		for (const { id } of queue.jobsToRun()) {
			if (underWay.has(id)) continue;
			underWay.add(id);
			finish(id).catch(console.error).finally(() => {
				underWay.delete(id);
				wake();
			});
		}
	};
	return wake;
}
