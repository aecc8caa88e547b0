import { publishDomainEvents } from '../../domain/events/publish.ts';
import { Problem } from '../../core/foundation/problem.ts';
import { type Job, jobs, type JobStatus } from '../../core/schemas/jobs.ts';
import type { StoredRecord } from '../../core/schemas/resource.ts';
import type { Service } from '../../core/service.ts';
import { equals } from '../../core/store/records/condition.ts';
import type { Table } from '../../core/store/records/table.ts';
import { runJobStep } from './job-step.ts';
import { NoRights } from '../../domain/access/authority.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
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
	step(id: string): boolean {
		const { store } = this.service;
		if (!store.isOpen) return false;
		try {
			return store.transaction(() => {
				const job = this.table.find(id) as Job;
				if (hasEnded(job)) return false;
				const step = runJobStep(this.service, job);
				if (step instanceof NoRights) {
					this.end(job, 'canceled', `${step.reason} ${notProcessed}`);
					return false;
				}
				const done = { ...job, started_at: job.started_at ?? this.now(), ...step.progress };
				if (step.isLast) this.end(done, 'completed');
				else this.save(job, { ...done, status: 'processing' });
				return !step.isLast;
			});
		} catch (error) {
			if (!(error instanceof Problem)) console.error(error);
			const reason = error instanceof Problem ? error.message : 'The service failed.';
			store.transaction(() => this.end(this.table.find(id) as Job, 'failed', `${reason} ${notProcessed}`));
			return false;
		}
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
 * Processes jobs while there are any, one step at a time and in turn, and answers requests in between.
 *
 * @returns a function to call whenever there may be work
 */
export function jobWorker(store: Store, queue: JobQueue): () => void {
	const underWay = new Set<string>();
	const finish = async (id: string) => {
		do await nextTurn();
		while (queue.step(id));
		underWay.delete(id);
		wake();
	};
	const wake = () => {
		if (!store.isOpen) return;
		for (const { id } of queue.jobsToRun()) {
			if (underWay.has(id)) continue;
			underWay.add(id);
			finish(id).catch(console.error);
		}
	};
	return wake;
}
