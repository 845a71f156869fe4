/**
 * The entry of the thread that draws PDFs.
 */
import { serveJobs } from "../../jobs/serveJobs.ts"
import { drawInvoice, type Drawn, type Job } from "./drawInvoice.ts"

serveJobs((job: Job): Promise<Drawn> => drawInvoice(job))
