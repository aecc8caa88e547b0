import type { Gain, ConnectionFigure } from './connections.ts';
import type { Network } from './processes.ts';
import type { Subject, PeerTask } from './subjects.ts';

/** The cost of one piece of work by one subject: medians. */
export interface Figure {
	/** Milliseconds for the whole work; extrapolated if `measured` is less. */
	ms: number;
	/** Time of all processors for the whole work, extrapolated in the same way. */
	cpuMs: number;
	/** The number of records that were measured. */
	measured: number;
	/** The number of requests of the measured part. */
	requests: number;
	connections: number;
}

/** One piece of work by all subjects, in processes that have worked before. */
export interface Work {
	task: PeerTask;
	/** Records. */
	count: number;
	network: Network;
	figures: Record<Subject, Figure>;
}

/** A process that runs the node for the first time, and then reads a long list; medians. */
export interface Fresh {
	/** The first run: the node is loaded, and creates one record. */
	firstMs: number;
	firstCpuMs: number;
	/** The list. */
	listMs: number;
	listCpuMs: number;
	/** The process's peak growth above the engine before its first run. */
	peakMb: number;
}

/** Work that needs more requests than the plan allows at once; one run. */
export interface UsedUp {
	task: PeerTask;
	/** Records handed in, or to be read. */
	count: number;
	/** Records that the node returned. */
	records: number;
	/** Records that were posted and accepted. */
	posted: number;
	requests: number;
	refused: number;
	ms: number;
	/** The least time the plan allows for the accepted requests. */
	leastMs: number;
	error?: string;
}

/** bench/results/peers.json */
export interface PeerResults {
	/** Day, version of Node.js, processors and memory. */
	machine: string;
	n8n: string;
	/** Versions of the nodes, by the name of their column. */
	versions: Partial<Record<Subject, string>>;
	works: Work[];
	/** Records of the list that fresh processes read. */
	freshCount: number;
	fresh: Record<Subject, Fresh>;
	plan: { requests: number; windowMs: number };
	usedUp: Record<Subject, UsedUp[]>;
	connections: ConnectionFigure[];
	gains: Gain[];
}
